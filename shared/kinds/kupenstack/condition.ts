import * as z from 'zod';
import { cel, filledText } from '../schema.ts';

/** Keeps an object until nothing of it is left in OpenStack. */
export const kupenstackFinalizer = 'kupenstack.io/finalizer';

/** Keeps the credentials of a namespace as long as they are needed to delete something in it. */
export const credentialsFinalizer = 'kupenstack.io/credentials';

export const group = 'kupenstack.io/v1alpha1';

/** A resource.Quantity, with or without quotes: 500Mi, "1Gi", 0. */
export const quantity = (field: string, description: string, least: string) =>
  z
    .unknown()
    .transform(String)
    .meta({
      description,
      'x-kubernetes-int-or-string': true,
      ...cel(
        `size(string(self)) <= 32 && isQuantity(string(self)) && quantity(string(self)).compareTo(quantity('${least}')) >= 0`,
        `${field}: expected an amount with its unit of at least ${least}, such as 500Mi or 2Gi`,
      ),
    });

/** The name of a sibling in the namespace, or of a thing in the project, whose names are freer. */
export const remoteName = (description: string) => filledText(255, description);
