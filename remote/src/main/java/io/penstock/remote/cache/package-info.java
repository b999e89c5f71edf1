// SPDX-License-Identifier: Apache-2.0
/**
 * The cache of remote objects on a local disk, shared by the processes of a node.
 *
 * <p>Each version of an object has a folder with a sparse file of the object's size, and a table that says which of its
 * blocks are there. A block is whole or absent, whatever process dies when. There is no other state: locks are the
 * kernel's and end with their process.
 */
@NullMarked
package io.penstock.remote.cache;

import org.jspecify.annotations.NullMarked;
