"""Timing needs a device: what is imported may not be used."""


def do_bench(fn, *args, **kwargs):
    raise NotImplementedError("triton.testing.do_bench is not modelled: nothing is timed here")


do_bench_cudagraph = perf_report = Benchmark = assert_close = do_bench
