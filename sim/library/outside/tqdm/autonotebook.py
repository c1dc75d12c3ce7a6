from tqdm import TqdmExperimentalWarning, TqdmWarning, tqdm, trange
