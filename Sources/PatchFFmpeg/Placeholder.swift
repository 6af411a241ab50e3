// PatchFFmpeg
