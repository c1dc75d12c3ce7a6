from multiprocessing.pool import Pool as Pool
