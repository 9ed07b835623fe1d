/** A text without white space is the name of a file; `{{query}}` alone is not. */
export const isPromptFile = (prompt: string): boolean =>
  !/\s/.test(prompt.trim().replace(/\{\{[^}]*\}\}/g, 'x')) && !/^\{\{\s*query\s*\}\}$/.test(prompt.trim());
