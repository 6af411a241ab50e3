// PatchKernel
