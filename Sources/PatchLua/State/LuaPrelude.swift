/// Library functions that can run for ever inside C are written in Lua here, where the hooks see them.
enum LuaPrelude {
    static let text = #"""
        local rawget, rawset, rawlen, type, error, select = rawget, rawset, rawlen, type, error, select
        local getmetatable, format = getmetatable, string.format
        local floor, tointeger = math.floor, math.tointeger

        local function wants(what, value, name, position)
          if type(value) ~= what then
            error(format("%s: argument %d is a %s, not a %s", name, position, type(value), what), 3)
          end
        end
        local function whole(value, default, name, position)
          if value == nil then return default end
          local number = tointeger(value)
          if not number then error(format("%s: argument %d is not a whole number", name, position), 3) end
          return number
        end

        -- The C version loops n times even when nothing is repeated.
        local rep = string.rep
        string.rep = function(text, count, separator)
          if type(text) == "number" then text = tostring(text) end
          wants("string", text, "string.rep", 1)
          count = whole(count, 0, "string.rep", 2)
          if #text == 0 and (separator == nil or separator == "") then return "" end
          if count > 0 and (#text + #(separator or "")) > 1e9 / count then
            error("string.rep would make a text of more than 1000000000 bytes", 2)
          end
          return rep(text, count, separator)
        end

        function table.insert(list, ...)
          wants("table", list, "table.insert", 1)
          local last = rawlen(list) + 1
          local count = select("#", ...)
          if count == 1 then
            rawset(list, last, (...))
            return
          end
          if count ~= 2 then error("table.insert takes a table, a position and a value", 2) end
          local position, value = ...
          position = whole(position, nil, "table.insert", 2)
          if not position or position < 1 or position > last then
            error(format("table.insert: position is outside 1…%d", last), 2)
          end
          for i = last, position + 1, -1 do rawset(list, i, rawget(list, i - 1)) end
          rawset(list, position, value)
        end

        function table.remove(list, position)
          wants("table", list, "table.remove", 1)
          local last = rawlen(list)
          if position == nil then position = last end
          position = whole(position, nil, "table.remove", 2)
          if last + 1 == position or last == 0 and position == 0 then
            local value = rawget(list, position)
            rawset(list, position, nil)
            return value
          end
          if position < 1 or position > last then
            error(format("table.remove: position is outside 1…%d", last + 1), 2)
          end
          local value = rawget(list, position)
          for i = position, last - 1 do rawset(list, i, rawget(list, i + 1)) end
          rawset(list, last, nil)
          return value
        end

        function table.move(from, first, last, to, target)
          wants("table", from, "table.move", 1)
          target = target or from
          wants("table", target, "table.move", 5)
          first = whole(first, 1, "table.move", 2)
          last = whole(last, 0, "table.move", 3)
          to = whole(to, 1, "table.move", 4)
          if last < first then return target end
          if to > last or to <= first or target ~= from then
            for i = 0, last - first do rawset(target, to + i, rawget(from, first + i)) end
          else
            for i = last - first, 0, -1 do rawset(target, to + i, rawget(from, first + i)) end
          end
          return target
        end

        local concat = table.concat
        function table.concat(list, separator, first, last)
          wants("table", list, "table.concat", 1)
          first = whole(first, 1, "table.concat", 3)
          last = whole(last, rawlen(list), "table.concat", 4)
          local copy, count = {}, 0
          for i = first, last do
            local value = rawget(list, i)
            if type(value) ~= "string" and type(value) ~= "number" then
              error(format("table.concat: element %d is a %s", i, type(value)), 2)
            end
            count = count + 1
            copy[count] = value
          end
          return concat(copy, separator, 1, count)
        end

        local sort = table.sort
        function table.sort(list, before)
          wants("table", list, "table.sort", 1)
          if getmetatable(list) ~= nil then error("table.sort takes a plain table", 2) end
          if rawlen(list) > 100000 then error("table.sort takes at most 100000 elements", 2) end
          return sort(list, before)
        end

        local unpack = table.unpack
        function table.unpack(list, first, last)
          wants("table", list, "table.unpack", 1)
          first = whole(first, 1, "table.unpack", 2)
          last = whole(last, rawlen(list), "table.unpack", 3)
          if last >= first and last - first < 0 or last - first > 10000 then
            error("table.unpack gives at most 10000 values", 2)
          end
          return unpack(list, first, last)
        end

        -- A real message handler runs inside the hook that raised, where no further hook can stop it.
        local pcall = pcall
        local function handled(handler, ok, ...)
          if ok then return true, ... end
          return false, handler(...)
        end
        local function installXpcall(globals)
          globals.xpcall = function(body, handler, ...)
            wants("function", handler, "xpcall", 2)
            return handled(handler, pcall(body, ...))
          end
        end
        installXpcall(_G)

        local create, resume = coroutine.create, coroutine.resume
        local function passOn(ok, ...)
          if ok then return ... end
          error((...), 0)
        end
        function coroutine.wrap(body)
          wants("function", body, "coroutine.wrap", 1)
          local thread = create(body)
          return function(...) return passOn(resume(thread, ...)) end
        end
        """#
}
