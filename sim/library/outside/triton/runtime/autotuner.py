from triton.runtime.driver import active
from triton.runtime.jit import KernelInterface


class Config:
    """one way to run a kernel"""

    def __init__(self, kwargs, num_warps=4, num_stages=3, num_ctas=1, maxnreg=None, pre_hook=None, ir_override=None):
        self.kwargs, self.pre_hook = kwargs, pre_hook
        self.num_warps, self.num_stages, self.num_ctas = num_warps, num_stages, num_ctas
        self.maxnreg, self.ir_override = maxnreg, ir_override

    def all_kwargs(self):
        names = ("num_warps", "num_ctas", "num_stages", "maxnreg", "ir_override")
        beside = {name: getattr(self, name) for name in names}
        return {**self.kwargs, **{name: value for name, value in beside.items() if value is not None}}

    def __str__(self):
        words = [f"{name}: {value}" for name, value in self.kwargs.items()]
        words += [f"{name}: {getattr(self, name)}" for name in ("num_warps", "num_ctas", "num_stages", "maxnreg")]
        return ", ".join(words)


class Autotuner(KernelInterface):
    """Times every configuration when a key is new, and takes the first: which is fastest is not known here."""

    def __init__(
        self, fn, arg_names, configs, key, reset_to_zero, restore_value, pre_hook=None, post_hook=None,
        prune_configs_by=None, warmup=None, rep=None, use_cuda_graph=False, do_bench=None, cache_results=False,
    ):  # fmt: skip
        if use_cuda_graph or do_bench is not None:
            raise NotImplementedError("triton.autotune with use_cuda_graph or do_bench is not modelled")
        self.fn, self.arg_names, self.keys, self.cache = fn, arg_names, list(key), {}
        self.configs = list(configs) or [Config({})]
        self.base_fn = fn
        while isinstance(self.base_fn, KernelInterface):
            self.base_fn = self.base_fn.fn
        self._zeroed, self._restored = list(reset_to_zero or ()), list(restore_value or ())
        self._before, self._after = pre_hook, post_hook
        self._pruned_by = prune_configs_by or {}

    @property
    def __name__(self):
        return self.base_fn.__name__

    def _pre(self, named, reset_only=False):
        if self._before:
            return self._before(named, reset_only)
        for name in self._zeroed:
            named[name].zero_()
        if not reset_only and self._restored:
            self.restore_copies = {name: named[name].clone() for name in self._restored}

    def _post(self, named):
        if self._after:
            return self._after(named, None)
        if self._restored:
            for name in self._restored:
                named[name].copy_(self.restore_copies[name])
            self.restore_copies = {}

    def _time(self, args, kwargs, named, config):
        """one run, then more beside a buffer that clears the cache: as triton.testing.do_bench()"""
        current = {**kwargs, **config.all_kwargs()}
        full = {**named, **current}

        def run():
            if config.pre_hook:
                config.pre_hook(full)
            self._pre(full)
            self.fn.run(*args, **current)
            self._post(full)

        run()
        cache = active.get_empty_cache_for_benchmark()
        active.clear_cache(cache)
        run()

    def run(self, *args, **kwargs):
        named = dict(zip(self.arg_names, args))
        config = self.configs[0]
        if len(self.configs) > 1:
            given = {name: value for name, value in {**named, **kwargs}.items() if name in self.arg_names}
            key = [given[name] for name in self.keys if name in given]
            key = tuple(key + [str(value.dtype) for value in given.values() if hasattr(value, "dtype")])
            if key not in self.cache:
                tried = self.prune_configs(kwargs, named)
                for each in tried:
                    self._time(args, kwargs, named, each)
                self.cache[key] = tried[0]
                self._pre({**named, **kwargs, **tried[0].all_kwargs()}, reset_only=True)
            config = self.cache[key]
        self.best_config = config
        if config.pre_hook is not None:
            config.pre_hook({**named, **kwargs, **config.all_kwargs()})
        return self.fn.run(*args, **kwargs, **config.all_kwargs())

    def prune_configs(self, kwargs, named=None):
        tried = self.configs
        if self._pruned_by.get("early_config_prune"):
            tried = self._pruned_by["early_config_prune"](self.configs, named, **kwargs)
        model, most = self._pruned_by.get("perf_model"), self._pruned_by.get("top_k", 1.0)
        if model:
            most = int(len(self.configs) * most) if isinstance(most, float) else most
            if len(tried) > most:
                costs = {id(each): model(**named, **kwargs, **each.all_kwargs()) for each in tried}
                tried = sorted(tried, key=lambda each: costs[id(each)])[:most]
        return tried


def autotune(configs, key, prune_configs_by=None, reset_to_zero=None, restore_value=None, pre_hook=None, **options):
    def decorator(fn):
        return Autotuner(
            fn, fn.arg_names, configs, key, reset_to_zero, restore_value, pre_hook, prune_configs_by=prune_configs_by,
            **options,
        )  # fmt: skip

    return decorator


class Heuristics(KernelInterface):
    """values of a kernel's parameters that functions of the others give"""

    def __init__(self, fn, arg_names, values):
        self.fn, self.arg_names, self.values = fn, arg_names, values

    def run(self, *args, **kwargs):
        for name, value in self.values.items():
            kwargs[name] = value({**dict(zip(self.arg_names, args)), **kwargs})
        return self.fn.run(*args, **kwargs)


def heuristics(values):
    return lambda fn: Heuristics(fn, fn.arg_names, values)
