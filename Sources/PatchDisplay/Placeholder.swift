// PatchDisplay
