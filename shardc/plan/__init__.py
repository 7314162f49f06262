"""A spec, a config and a mesh to a plan; the proofs that it is one."""
