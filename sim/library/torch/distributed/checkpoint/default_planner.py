from torch.distributed.checkpoint._files import DefaultLoadPlanner, DefaultSavePlanner
