/** What the overlays of production name until an admin, or --image, does. */
export const exampleImage = 'registry.example/ot-functions:0.1.0';

/** An image by its parts; a digest identifies it, whatever its tag. */
export function imageParts(image: string): { repository: string; tag: string; digest: string } {
  const [named = '', digest = ''] = image.split('@');
  const colon = named.indexOf(':', named.lastIndexOf('/'));
  return colon < 0
    ? { repository: named, tag: '', digest }
    : { repository: named.slice(0, colon), tag: named.slice(colon + 1), digest };
}
