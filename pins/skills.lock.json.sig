[
  {
    "signer": "hydrant.build",
    "algorithm": "ed25519",
    "signature": "ctjs4ikxzmN0wBr513152bfYfiQRpYYZVVedvruhTVGW98sPMuAP6wUMqTNKZVzqmv4m2dNKFrjeZSCW+FkmDA=="
  },
  {
    "signer": "hydrant.release",
    "algorithm": "ed25519",
    "signature": "w72qUDrazVBFpN5a83TFHhZ/H5l5O2KW/FtqIPW4Chtjdm1veZuYuT3I7CgHuvQNrxSbthUVFXbTdiO0Yi0UDw=="
  }
]
