[
  {
    "signer": "hydrant.build",
    "algorithm": "ed25519",
    "signature": "0zbJp9W4XN0duC3AY/DfN8uRyIbytoXxHCIzm0EaBtSDb5TfirH88to24nhl+cEKVk7+6LShx9DEi2c24YwFAw=="
  },
  {
    "signer": "hydrant.release",
    "algorithm": "ed25519",
    "signature": "7T1R7bn4JJgZJUrGq4Xg7W3Uym9GQdKoCbrCE1OuuFfw1wgYRejEVEwRLg5a7ps7xJNq+7tcMu/tkf+5V0nlDg=="
  }
]
