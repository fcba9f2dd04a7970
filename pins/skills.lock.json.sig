[
  {
    "signer": "hydrant.build",
    "algorithm": "ed25519",
    "signature": "jkQ65bev+4FWZdKvK2vGobB3cTXYRWyTKOzcj4bi4cmckW/FJa4TcnsVF+4fP26kPc7jJF1hIWbMwoqpg/XTBw=="
  },
  {
    "signer": "hydrant.release",
    "algorithm": "ed25519",
    "signature": "41IGc+ioU7fsJnpwmGIdU/jCtuaWYnKswNQCQ9p8PPM4YV8D9B9oC3jddRhuiHlm4M43qf5VCcj16v3Ioo7lDw=="
  }
]
