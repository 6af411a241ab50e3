// PatchGraph
