/// The version of the program, as the command and the metrics tell it.
public let programVersion = "0.1.0"
