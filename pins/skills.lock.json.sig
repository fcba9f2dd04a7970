[
  {
    "signer": "hydrant.build",
    "algorithm": "ed25519",
    "signature": "xVEGd5LZhFf064lU2tsEQVDm4jn+mQn4ybKBeck9KgoE0xUHm/hvlHdlnKkzcodKQAKIK4GkJMbOibRKq/7mBg=="
  },
  {
    "signer": "hydrant.release",
    "algorithm": "ed25519",
    "signature": "j6UYbq9BjTkscbf4vwvrM/Oi85LF+GWYdpN+AGAVsBvv+BEiN9SSKa9DFeXdbQU2Wx28w+4jN7EeygH5Gi14AQ=="
  }
]
