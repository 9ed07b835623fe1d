// For whoever starts the program by the path of an ES module.
import './cli.cjs';
