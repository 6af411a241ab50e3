// PatchLua
