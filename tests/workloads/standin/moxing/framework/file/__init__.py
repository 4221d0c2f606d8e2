from moxing.framework.file.file_io import copy_parallel
