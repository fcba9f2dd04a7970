[
  {
    "signer": "hydrant.build",
    "algorithm": "ed25519",
    "signature": "F2gm+r6i+UKtrCVkyzVq4YUNFc9Pi3GcH3T+dddVIgyFnv35NxWoiP17zYi/WE8BNPQADyHlbJaEU2PaqD31AQ=="
  },
  {
    "signer": "hydrant.release",
    "algorithm": "ed25519",
    "signature": "0NF0DRBW0BVfc7CFN8/O90vALzvRk2IqAfTUNXbdUuDxSgqOMasFvNqISYi0axH9Z6VBrYbfI4rZUY3JJkGsDQ=="
  }
]
