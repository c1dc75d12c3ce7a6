"""The folder of numpy's functions that are made of others."""
