/** The package ships no types; this is the part that is used. */
declare module '@tgwf/co2' {
  export const averageIntensity: { readonly data: Record<string, number>; readonly type: string };
}
