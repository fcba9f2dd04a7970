[
  {
    "signer": "hydrant.build",
    "algorithm": "ed25519",
    "signature": "Y+8AIY9mIplf4zQjv1lFjulqB8xvW5avMZlLLAWVGyqERBkdHCVNT5uZRkDbDQon/kp2Wl/5jEoYE4rq4VNWCg=="
  },
  {
    "signer": "hydrant.release",
    "algorithm": "ed25519",
    "signature": "1Fw/U8m9h+oCB0KN0KDOZaw7hnqYthYPIwwIJy2w6eiE6L5CwPTpYExQhjVrejF7DxNFdSb4+vNeucH/uLstCg=="
  }
]
