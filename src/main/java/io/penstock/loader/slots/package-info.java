// SPDX-License-Identifier: Apache-2.0
/**
 * The ring of slots, and the delivery of filled slots to the trainer.
 *
 * <pre>
 *   filling threads   ──▶ SlotRing of HostSlots ──in order──▶ Delivery ──▶ Lease ──close──▶ the slot is free again
 *                                                                │
 *                       InPlaceDelivery: the trainer is lent the host slot itself
 *                       CopyDelivery: a CopyThread copies slots to DeviceSlots, ordered by events, and
 *                           enqueues the DeviceStages behind each copy
 * </pre>
 *
 * <p>This package depends neither on the content of a batch nor on who builds it.
 */
@NullMarked
package io.penstock.loader.slots;

import org.jspecify.annotations.NullMarked;
