import torch._C as _C


class set_detect_anomaly:
    def __init__(self, mode, check_nan=True):
        if mode:
            _C.refuse("anomaly detection is not modelled", "it looks for NaN in every gradient: leave it off")

    def __enter__(self):
        return None

    def __exit__(self, *args):
        return False


class detect_anomaly(set_detect_anomaly):
    def __init__(self, check_nan=True):
        super().__init__(True, check_nan)
