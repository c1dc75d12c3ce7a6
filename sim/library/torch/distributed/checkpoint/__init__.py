from torch.distributed.checkpoint._files import (
    DefaultLoadPlanner, DefaultSavePlanner, FileSystemReader, FileSystemWriter, async_save, load, load_state_dict, save,
    save_state_dict,
)
from torch.distributed.checkpoint.state_dict import StateDictOptions
