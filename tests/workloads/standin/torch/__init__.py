"""A stand-in for torch, for jobs that hang: the same names at the same paths, made of sockets and pipes."""
