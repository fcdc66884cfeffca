package let programVersion = "0.2.0"
