// PatchFilters
