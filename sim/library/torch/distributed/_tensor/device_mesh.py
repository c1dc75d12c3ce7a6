from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
