"""A stand-in for what copies to and from an object store: the same names at the same paths, and a store that is silent."""
