from yaml import BaseLoader, FullLoader, Loader, SafeLoader, UnsafeLoader
