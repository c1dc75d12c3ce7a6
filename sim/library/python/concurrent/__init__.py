"""what is run at the same time as something else; here one after the other"""
