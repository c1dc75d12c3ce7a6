"""addresses: taken apart, never opened"""
