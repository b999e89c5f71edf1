// SPDX-License-Identifier: Apache-2.0
/**
 * The ring of slots, and what brings filled ones to the trainer.
 *
 * <pre>
 *   threads that fill ──▶ SlotRing of HostSlots ──in order──▶ Delivery ──▶ Lease ──close──▶ the slot is free again
 *                                                                │
 *                       InPlaceDelivery: the trainer is lent the host slot itself
 *                       CopyDelivery: a CopyThread copies slots to DeviceSlots, ordered by events, and
 *                           enqueues the DeviceStages behind each copy
 * </pre>
 *
 * <p>Nothing here knows what a batch is made of, or who makes it.
 */
@NullMarked
package io.penstock.loader.slots;

import org.jspecify.annotations.NullMarked;
