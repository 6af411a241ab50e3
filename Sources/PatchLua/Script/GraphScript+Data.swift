internal import CLua
import PatchGraph
import PatchMedia

/// `node:onData(function(d) … end)`: numbers that native operators publish.
extension GraphScript {
    /// Marks a node whose numbers a handler reads, so that it runs though its picture may reach no sink.
    func watch(_ node: Int, _ call: LuaCall) throws {
        guard model.schemas[node].publishesData || !fields(of: node).isEmpty else {
            throw call.error(
                "\(title(node: node)) publishes no numbers",
                "filters such as averageColor and histogram, and audio.meter, do")
        }
        model.patch.nodes[node].isWatched = true
    }

    private func fields(of node: Int) -> [OperatorData.Field] {
        guard case .kernels(let filter) = model.patch.nodes[node].body else { return [] }
        return filter.stages.flatMap { stage -> [OperatorData.Field] in
            guard case .native(let native) = stage.work else { return [] }
            return (try? registry.nativeOperator(native.name))?.data ?? []
        }
    }

    /// Pushes a table of what a node published: numbers, and lists of numbers or of points.
    func push(_ snapshot: OperatorData.Snapshot, _ call: LuaCall) {
        func list(_ floats: [Float]) {
            call.pushTable()
            for (index, float) in floats.enumerated() {
                call.push(Double(float))
                call.setElement(index + 1)
            }
        }
        call.pushTable()
        call.push(Int(snapshot.tick))
        call.setField("tick")
        for (name, value) in snapshot.values.sorted(by: { $0.key < $1.key }) {
            switch value {
            case .number(let number): call.push(Double(number))
            case .vector(let floats), .numbers(let floats): list(floats)
            case .vectors(let elements):
                call.pushTable()
                for (index, element) in elements.enumerated() {
                    list(element)
                    call.setElement(index + 1)
                }
            }
            call.setField(name)
        }
    }
}
