/** The package has no types. These are the parts in use. */
declare module '@tgwf/co2' {
  export const averageIntensity: { readonly data: Record<string, number>; readonly type: string };
}
