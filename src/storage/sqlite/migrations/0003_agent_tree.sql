-- Whole trees of agents in one list: as agent_list and agent_live_list, whatever the level.
CREATE INDEX agent_live_tree ON agent (tenant, path, uid) WHERE live = 1;
CREATE INDEX agent_tree ON agent (tenant, path, uid);
