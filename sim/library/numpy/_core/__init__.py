"""The folder of what numpy's arrays are made of."""
