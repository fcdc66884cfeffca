/// The version of the program, as the command and the metrics tell it.
package let programVersion = "0.1.0"
