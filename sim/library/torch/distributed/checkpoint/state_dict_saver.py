from torch.distributed.checkpoint._files import async_save, save, save_state_dict
