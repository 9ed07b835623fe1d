export { MAX_YAML_SIZE, parseYaml } from './yaml.ts';
export {
  keyPlace,
  locate,
  nodeAt,
  placeAt,
  setOwn,
  toPlain,
  type YamlEntry,
  type YamlMap,
  type YamlNode,
  type YamlPlace,
  type YamlScalar,
  type YamlScalarValue,
  type YamlSource,
} from './yaml-node.ts';
export { placeInside } from './yaml-offset.ts';
export { brokenScalar, resolvePlain } from './yaml-scalar.ts';
