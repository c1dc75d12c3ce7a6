"""The parts of tools/hunt: drawing programs, running them in PyTorch and in Tidemark, comparing, shrinking."""
