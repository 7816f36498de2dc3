// Checks answers against the output schemas of their tools.
import Ajv from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

export function checker(tools) {
  const ajv = new Ajv({ allErrors: true, strict: true, strictTypes: false, strictRequired: false });
  addFormats(ajv);
  const schemas = new Map(tools.map((it) => [it.name, ajv.compile(it.outputSchema)]));
  // Returns the structured content; throws what is wrong with it.
  return (name, result) => {
    const fits = schemas.get(name);
    const told = result.structuredContent;
    if (!told) throw new Error(`${name} has no structured content: ${JSON.stringify(result)}`);
    if (!fits(told)) throw new Error(`${name}: ${ajv.errorsText(fits.errors)}: ${JSON.stringify(told)}`);
    return told;
  };
}
