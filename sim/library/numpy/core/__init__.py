"""The older name of numpy._core."""
