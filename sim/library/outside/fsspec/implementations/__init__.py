"""kinds of file systems"""
