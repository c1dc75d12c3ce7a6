class Store:
    """keys and values that the ranks share"""

    def __init__(self, *args, **kwargs):
        self._kept = {}

    def set(self, key, value):
        self._kept[key] = value

    def get(self, key):
        return self._kept.get(key, "")

    def add(self, key, amount):
        self._kept[key] = self._kept.get(key, 0) + amount
        return self._kept[key]

    def wait(self, keys, timeout=None):
        pass

    def set_timeout(self, timeout):
        pass

    def delete_key(self, key):
        return self._kept.pop(key, None) is not None


class HashStore(Store):
    pass


class TCPStore(Store):
    pass


class FileStore(Store):
    pass
