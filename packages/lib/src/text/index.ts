export { didYouMean, sameWords } from './did-you-mean.ts';
export {
  defuseFormula,
  escapeHtml,
  escapeJsonLine,
  escapeLatex,
  escapeMarkdownTableCell,
  escapePrometheusLabel,
  escapeSlack,
  escapeTerminal,
  escapeTerminalLine,
  escapeWorkflowCommandData,
  escapeWorkflowCommandProperty,
  escapeXmlAttribute,
  escapeXmlText,
  fuseFormula,
  jsonInHtml,
} from './escape.ts';
export { exactNameSlip, type NameSlip, patternSlip } from './name-slip.ts';
export {
  onlySlot,
  parseTemplate,
  renderTemplate,
  slotsOf,
  type Template,
  type TemplateSlot,
  valueText,
} from './template.ts';
export { foldText } from './text-fold.ts';
export { isVisible, visibleName, visibleNames, visibleText } from './visible-text.ts';
export { andMore, clip, formatCount, plural } from './words.ts';
