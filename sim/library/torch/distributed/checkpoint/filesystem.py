from torch.distributed.checkpoint._files import FileSystemReader, FileSystemWriter
