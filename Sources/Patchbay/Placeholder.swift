// Patchbay
