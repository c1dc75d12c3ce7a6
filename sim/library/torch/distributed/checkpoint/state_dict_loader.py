from torch.distributed.checkpoint._files import load, load_state_dict
