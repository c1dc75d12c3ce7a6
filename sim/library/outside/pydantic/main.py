from pydantic._models import BaseModel, create_model
